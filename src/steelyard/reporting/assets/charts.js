// Draws every figure of the page. All data is in the page; nothing is fetched.
document.querySelectorAll("script[type='application/json'][data-figure]").forEach((source) => {
  const figure = JSON.parse(source.textContent);
  const place = document.getElementById("figure-" + source.dataset.figure);
  place.dataset.height = figure.layout.height;
  place.style.height = figure.layout.height + "px";
  Plotly.newPlot(place, figure.data, figure.layout, {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
    toImageButtonOptions: { format: "svg", filename: source.dataset.figure },
  });
});
// On paper a figure fits one page, and nothing stays folded.
const tallest = 860;
const resize = (limit) => document.querySelectorAll(".plot").forEach((plot) => {
  const height = Math.min(plot.dataset.height, limit);
  plot.style.height = height + "px";
  Plotly.relayout(plot, { height, width: plot.clientWidth });
});
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((part) => (part.open = true));
  resize(tallest);
});
window.addEventListener("afterprint", () => resize(Infinity));

// Draws every figure when it comes near the window, in the colours of the reader's theme. All data is in the page; nothing is fetched.
const palette = JSON.parse(document.getElementById("palette").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
let onPaper = false;
const coloured = (part) => {
  if (typeof part === "string") return palette[part] ?? part;
  if (part === null || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
  if (Array.isArray(part)) return part.map(coloured);
  return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, coloured(each)]));
};
const settings = {
  responsive: true,
  displaylogo: false,
  displayModeBar: "hover",
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
};
let figures = {};
const draw = (place) => {
  const name = place.dataset.figure;
  const whole = structuredClone(figures[name]);
  const { data, layout } = dark.matches && !onPaper ? coloured(whole) : whole;
  place.dataset.height ||= layout.height;
  if (place.clientWidth < 480 && data.length > 3 && layout.showlegend) layout.margin = { ...layout.margin, t: layout.margin.t + 26 };
  if (place.clientWidth < 480 && layout.yaxis.scaleanchor) {
    layout.height = place.clientWidth;
    for (const side of ["xaxis", "yaxis"]) layout[side].showticklabels = false;
    place.style.height = layout.height + "px";
  }
  return Plotly.react(place, data, layout, { ...settings, toImageButtonOptions: { format: "svg", filename: name } });
};
const places = () => [...document.querySelectorAll(".plot")];
const drawn = () => places().filter((place) => place.dataset.height);
const say = (sentence) => {
  const notice = document.getElementById("notice");
  notice.textContent = sentence;
  notice.hidden = false;
  places().forEach((place) => (place.style.display = "none"));
};
const begin = async () => {
  if (typeof DecompressionStream === "undefined") {
    say("This browser is too old to unpack the figures of this page (it has no DecompressionStream; browsers since 2023 have it). All sentences and tables are here.");
    return;
  }
  const [packed, library] = await Promise.all([inflate("packed-figures"), inflate("packed-library")]);
  figures = unpackFigures(packed);
  const script = document.createElement("script");
  script.textContent = textOf(library);
  document.head.append(script);
  const near = new IntersectionObserver((seen) => seen.filter((each) => each.isIntersecting).forEach((each) => {
    near.unobserve(each.target);
    draw(each.target);
  }), { rootMargin: "800px" });
  places().forEach((place) => near.observe(place));
};
dark.addEventListener("change", () => drawn().forEach(draw));
// On paper a figure fits one page, nothing stays folded, and paper is white.
const tallest = 860;
const resize = (limit) => drawn().forEach((plot) => {
  const height = Math.min(plot.dataset.height, limit);
  plot.style.height = height + "px";
  Plotly.relayout(plot, { height, width: plot.clientWidth });
});
window.addEventListener("beforeprint", () => {
  onPaper = true;
  document.querySelectorAll("details").forEach((part) => (part.open = true));
  if (window.Plotly) { places().forEach(draw); resize(tallest); }
});
window.addEventListener("afterprint", () => { onPaper = false; if (window.Plotly) { drawn().forEach(draw); resize(Infinity); } });
begin().catch((error) => say("The figures of this page could not be drawn: " + error.message + ". All sentences and tables are here."));

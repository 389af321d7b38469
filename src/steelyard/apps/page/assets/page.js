// The 3-D view, playing of motions with one cursor over all plots, copying, keys and themes. Everything that is drawn is computed by Python.
window.steelyard = (() => {
  const stages = new Map();
  let T = null;
  const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  async function stage(id) {
    T ??= (await import("nicegui-scene")).THREE;
    for (let tries = 0; tries < 400; tries++) {
      const view = window.getElement && getElement(id);
      if (view && view.renderer && view.controls) {
        if (!stages.has(id)) stages.set(id, prepare(view));
        return stages.get(id);
      }
      await new Promise((done) => setTimeout(done, 15));
    }
    throw new Error("there is no 3-D view");
  }

  function prepare(view) {
    view.renderer.setClearColor(0x000000, 0);
    view.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 1.5));
    view.resize();
    view.scene.children.filter((each) => each.isLight).forEach((each) => view.scene.remove(each));
    const sky = new T.HemisphereLight(0xffffff, 0x9aa4b5, 2.2);
    sky.position.set(0, 0, 1);
    const sun = new T.DirectionalLight(0xffffff, 1.7);
    sun.position.set(2, -3, 5);
    view.scene.add(sky, sun);
    const made = { view, root: null, groups: [], layers: {}, ghosts: null, stale: 2 };
    // Drawn only when something has changed: a still robot costs no battery.
    for (const each of [view.renderer, view.text_renderer, view.text3d_renderer]) {
      const draw = each.render.bind(each);
      each.render = (scene, camera) => made.stale > 0 && draw(scene, camera);
    }
    const update = view.controls.update.bind(view.controls);
    view.controls.update = (...all) => {
      made.stale = Math.max(0, made.stale - 1);
      return update(...all);
    };
    view.controls.addEventListener("change", () => touch(made));
    new ResizeObserver(() => (view.resize(), touch(made))).observe(view.$el);
    matchTheme(made);
    return made;
  }
  const touch = (made) => (made.stale = 3);

  const hues = () => ({
    link: css("--link"), joint: css("--joint"), inertia: css("--blue"), sigma: css("--orange"), ghost: css("--ghost"), velocity: css("--green"),
  });
  function matchTheme(made) {
    const colours = hues();
    made.view.scene.traverse((each) => {
      const role = each.userData.role;
      if (role && colours[role] && each.material) each.material.color.set(colours[role]);
      if (role === "grid") each.material.color.set(css("--grid"));
    });
    touch(made);
  }
  const matter = (role, opacity = 1) =>
    Object.assign(
      new T.MeshStandardMaterial({ color: hues()[role], roughness: 0.55, metalness: 0.08, transparent: opacity < 1, opacity }),
      opacity < 1 ? { depthWrite: false } : {},
    );

  function place(object, row) {
    object.position.set(...row.p);
    object.quaternion.set(...row.q);
    return object;
  }
  function geometry(row) {
    const [a, b, c] = row.sizes;
    if (row.kind === "box") return new T.BoxGeometry(a, b, c);
    if (row.kind === "sphere") return new T.SphereGeometry(a, 24, 16);
    const made = row.kind === "capsule" ? new T.CapsuleGeometry(a, b, 6, 18) : new T.CylinderGeometry(a, a, b, 28);
    return made.rotateX(Math.PI / 2); // three.js has them along y
  }
  async function meshGeometry(row) {
    const answer = await fetch(row.mesh);
    if (!answer.ok) throw new Error(await answer.text());
    const made = new T.BufferGeometry();
    made.setAttribute("position", new T.BufferAttribute(new Float32Array(await answer.arrayBuffer()), 3));
    made.scale(...row.sizes);
    made.computeVertexNormals();
    return made;
  }

  function axesOf(size) {
    const made = new T.AxesHelper(size);
    made.setColors(new T.Color("#c0392b"), new T.Color("#2c8a6b"), new T.Color("#2f6fbf"));
    made.material.linewidth = 2;
    return made;
  }
  function ball(role, axes, opacity) {
    const made = new T.Mesh(new T.SphereGeometry(1, 28, 18), matter(role, opacity));
    made.scale.set(...axes.map((x) => Math.max(x, 1e-5)));
    made.userData.role = role;
    return made;
  }

  async function build(id, content) {
    const made = await stage(id);
    if (made.root) made.view.scene.remove(made.root);
    made.root = new T.Group();
    made.groups = Array.from({ length: content.bodies }, () => new T.Group());
    made.groups.forEach((group) => made.root.add(group));
    made.content = content;
    made.layers = { links: [], frames: [], centres: [], ellipsoids: [], velocity: [] };
    const put = (layer, body, object) => (made.layers[layer].push(object), made.groups[body].add(object), object);
    const meshes = content.solids.map(async (row) => {
      const shape = row.kind === "mesh" ? await meshGeometry(row).catch(() => null) : geometry(row);
      if (!shape) return;
      const mesh = place(new T.Mesh(shape, matter(row.part)), row);
      mesh.userData.role = row.part;
      put("links", row.body, mesh);
    });
    const size = 0.09 * content.reach;
    content.frames.forEach((row) => put("frames", row.body, place(axesOf(row.name === content.tip ? 1.5 * size : size), row)));
    drawInertias(made, content.inertias);
    ground(made, content.reach);
    made.view.scene.add(made.root);
    applyShown(made);
    if (made.last) setPoses(made.groups, made.last, 0);
    await Promise.all(meshes);
    applyShown(made);
    made.view.$el.dataset.built = String(made.layers.links.length);
  }
  function drawInertias(made, rows) {
    for (const layer of ["centres", "ellipsoids"]) made.layers[layer].splice(0).forEach((each) => each.removeFromParent());
    for (const row of rows) {
      const centre = ball("inertia", Array(3).fill(0.035 * made.content.reach * Math.cbrt(row.share)), 0.95);
      made.layers.centres.push(place(centre, row));
      if (row.sigma) {
        const spread = ball("sigma", row.sigma, 0.45);
        spread.position.set(...row.p);
        made.layers.centres.push(spread);
        made.groups[row.body].add(spread);
      }
      const shape = place(ball("inertia", row.axes, 0.28), row);
      made.layers.ellipsoids.push(shape);
      made.groups[row.body].add(centre, shape);
    }
  }
  async function inertias(id, rows) {
    const made = await stage(id);
    drawInertias(made, rows);
    applyShown(made);
  }
  function ground(made, reach) {
    const step = Math.pow(10, Math.floor(Math.log10(reach))) / (reach / Math.pow(10, Math.floor(Math.log10(reach))) > 5 ? 1 : 2);
    const count = 2 * Math.ceil((1.5 * reach) / step);
    const grid = new T.GridHelper(count * step, count);
    grid.rotateX(Math.PI / 2);
    grid.material.vertexColors = false;
    grid.material.transparent = true;
    grid.material.opacity = 0.55;
    grid.material.color.set(css("--grid"));
    grid.userData.role = "grid";
    made.root.add(grid);
  }

  function setPoses(groups, numbers, start) {
    groups.forEach((group, k) => {
      const at = start + 7 * k;
      group.position.set(numbers[at], numbers[at + 1], numbers[at + 2]);
      group.quaternion.set(numbers[at + 3], numbers[at + 4], numbers[at + 5], numbers[at + 6]);
    });
    stages.forEach(touch);
  }
  async function pose(id, numbers, velocity) {
    const made = await stage(id);
    made.last = numbers;
    setPoses(made.groups, numbers, 0);
    made.layers.velocity?.splice(0).forEach((each) => each.removeFromParent());
    if (velocity && made.root) {
      const longest = Math.max(...velocity.axes, 1e-9);
      const shape = place(ball("velocity", velocity.axes.map((x) => (0.3 * made.content.reach * x) / longest), 0.3), velocity);
      made.layers.velocity.push(shape);
      made.root.add(shape);
      applyShown(made);
    }
    made.view.$el.dataset.pose = numbers.map((x) => x.toFixed(4)).join(" ");
  }
  async function ghosts(id, several) {
    const made = await stage(id);
    made.ghosts?.removeFromParent();
    made.ghosts = new T.Group();
    for (const numbers of several) {
      const groups = made.groups.map(() => new T.Group());
      for (const row of made.content.ghost.filter((each) => each.body > 0)) {
        const mesh = place(new T.Mesh(geometry(row), matter("ghost", 0.22)), row);
        Object.assign(mesh.material, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 });
        mesh.userData.role = "ghost";
        groups[row.body].add(mesh);
      }
      setPoses(groups, numbers, 0);
      made.ghosts.add(...groups);
    }
    made.view.scene.add(made.ghosts);
    touch(made);
    made.view.$el.dataset.ghosts = String(several.length);
  }

  const shown = { links: true, frames: false, centres: false, ellipsoids: false, velocity: false };
  function applyShown(made) {
    for (const [layer, objects] of Object.entries(made.layers)) objects.forEach((each) => (each.visible = shown[layer]));
    touch(made);
    const through = shown.centres || shown.ellipsoids;
    made.layers.links?.forEach((each) => {
      Object.assign(each.material, { transparent: through, opacity: through ? 0.25 : 1, depthWrite: !through, needsUpdate: true });
    });
  }
  function show(id, layer, on) {
    shown[layer] = on;
    stage(id).then(applyShown);
  }

  // Playing: frames come packed; between two of them positions are interpolated.
  const player = { motion: null, made: null, time: 0, rate: 1, playing: false, last: 0, told: 0, frames: 0 };
  async function load(id, motion) {
    const raw = Uint8Array.from(atob(motion.poses), (c) => c.charCodeAt(0));
    Object.assign(player, { motion: { ...motion, numbers: new Float32Array(raw.buffer) }, made: await stage(id), time: motion.start, playing: false });
    const line = document.querySelector("#timeline");
    if (line) Object.assign(line, { min: motion.start, max: motion.end, value: motion.start });
    seek(motion.start);
    document.body.dataset.motion = motion.name ?? "";
  }
  const mixed = [];
  function seek(time, tell = true) {
    const { motion, made } = player;
    if (!motion) return;
    player.time = Math.min(Math.max(time, motion.start), motion.end);
    const place = ((player.time - motion.start) / (motion.end - motion.start || 1)) * (motion.count - 1);
    const a = Math.min(Math.floor(place), motion.count - 2), share = place - a, width = 7 * made.groups.length, n = motion.numbers;
    for (let k = 0; k < width; k += 7) {
      const x = a * width + k, y = x + width;
      const same = n[x + 3] * n[y + 3] + n[x + 4] * n[y + 4] + n[x + 5] * n[y + 5] + n[x + 6] * n[y + 6] < 0 ? -1 : 1;
      for (let j = 0; j < 7; j++) mixed[k + j] = (1 - share) * n[x + j] + share * (j < 3 ? 1 : same) * n[y + j];
      const length = Math.hypot(mixed[k + 3], mixed[k + 4], mixed[k + 5], mixed[k + 6]);
      for (let j = 3; j < 7; j++) mixed[k + j] /= length;
    }
    setPoses(made.groups, mixed, 0);
    made.last = mixed.slice(0, width);
    cursors();
    if (tell) report();
  }
  function report() {
    player.told = performance.now();
    emitEvent("played", { time: player.time, playing: player.playing });
  }
  function tick(now) {
    if (!player.playing) return;
    player.frames++;
    seek(player.time + (Math.min((now - player.last) / 1000, 0.25) * player.rate), false);
    player.last = now;
    if (player.time >= player.motion.end) pause();
    else {
      if (now - player.told > 250) report();
      requestAnimationFrame(tick);
    }
  }
  function play() {
    if (!player.motion || player.playing) return;
    if (player.time >= player.motion.end) player.time = player.motion.start;
    Object.assign(player, { playing: true, last: performance.now(), frames: 0, began: performance.now() });
    playButton();
    requestAnimationFrame(tick);
  }
  function pause() {
    player.playing = false;
    playButton();
    report();
  }
  const toggle = () => (player.playing ? pause() : play());
  const rate = (factor) => (player.rate = factor);
  function playButton() {
    const button = document.querySelector("#play");
    if (button) Object.assign(button, { textContent: player.playing ? "Pause" : "Play" });
  }
  function cursors() {
    const line = document.querySelector("#timeline"), clock = document.querySelector("#clock");
    if (line) {
      line.value = player.time;
      line.setAttribute("aria-valuetext", `${player.time.toFixed(2)} seconds`);
    }
    if (clock) clock.textContent = `${player.time.toFixed(2)} s`;
    for (const plot of document.querySelectorAll(".timed .js-plotly-plot")) {
      const axis = plot._fullLayout?.xaxis;
      if (!axis) continue;
      let mark = plot.parentElement.querySelector(".cursor");
      if (!mark) {
        mark = plot.parentElement.appendChild(Object.assign(document.createElement("div"), { className: "cursor" }));
        plot.addEventListener("click", (event) => {
          const own = plot._fullLayout.xaxis;
          const x = event.clientX - plot.getBoundingClientRect().left - own._offset;
          if (x >= 0 && x <= own._length) seek(own.p2d(x));
        });
      }
      const x = axis.d2p(player.time);
      mark.style.display = x < 0 || x > axis._length ? "none" : "block";
      mark.style.transform = `translateX(${axis._offset + x}px)`;
    }
  }

  async function copy(button, text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = before), 1200);
  }

  async function upload(field, address, kind) {
    const file = field.files[0];
    if (!file) return;
    const most = 64 * 2 ** 20;
    let said = { ok: false, kind, sentence: `A file may have ${most / 2 ** 20} MB.` };
    if (file.size <= most) {
      try {
        const answer = await fetch(`${address}?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
        said = { ok: answer.ok, kind, sentence: await answer.text() };
      } catch {
        said.sentence = "The file could not be sent.";
      }
    }
    field.value = "";
    emitEvent("uploaded", said);
  }
  let silent = 0;
  function tell(sentence, bad) {
    const place = document.querySelector("#said");
    place.textContent = sentence;
    place.className = `said on${bad ? " bad" : ""}`;
    clearTimeout(silent);
    silent = setTimeout(() => (place.className = "said"), bad ? 12000 : 5000);
  }

  function theme(word) {
    const dark = word === "dark" || (word === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.body.classList.toggle("body--dark", dark);
    document.body.classList.toggle("body--light", !dark);
    document.querySelector("meta[name=color-scheme]")?.setAttribute("content", dark ? "dark" : "light");
    try { localStorage.setItem("steelyard-theme", word); } catch {}
    document.querySelector("#theme")?.setAttribute("data-word", word);
    stages.forEach(matchTheme);
  }
  function nextTheme() {
    const words = ["auto", "light", "dark"];
    theme(words[(words.indexOf(document.querySelector("#theme").dataset.word || "auto") + 1) % 3]);
  }
  function start() {
    let word = "auto";
    try { word = localStorage.getItem("steelyard-theme") || "auto"; } catch {}
    const wait = () => (document.querySelector("#theme") ? theme(word) : setTimeout(wait, 10));
    wait();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(document.querySelector("#theme").dataset.word));
    const named = () => document.querySelectorAll(".q-loading-bar:not([aria-label])").forEach((bar) => bar.setAttribute("aria-label", "loading"));
    new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
    named();
    document.addEventListener("keydown", (event) => {
      if (event.target.closest("input:not([type=range]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && !event.target.closest("button, summary, a") && player.motion) { event.preventDefault(); toggle(); }
      const tabs = [...document.querySelectorAll("[role=tab]")];
      if (/^[1-9]$/.test(event.key) && tabs[event.key - 1]) { tabs[event.key - 1].click(); tabs[event.key - 1].focus(); }
      if (event.target.matches("[role=tab]") && ["ArrowRight", "ArrowLeft"].includes(event.key)) {
        const next = tabs[(tabs.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
        next.click();
        next.focus();
      }
    });
  }
  function fitPlots() {
    for (const plot of document.querySelectorAll(".plot .js-plotly-plot")) {
      const wide = plot.clientWidth, library = getElement(plot.id.slice(1))?.Plotly;
      if (library && wide > 0 && plot.offsetParent && plot._fullLayout && Math.abs(plot._fullLayout.width - wide) > 1) {
        library.relayout(plot, { width: wide });
      }
    }
  }
  start();
  setInterval(() => {
    fitPlots();
    if (player.motion && !player.playing) cursors(); // figures that came since
  }, 300);
  return { build, pose, ghosts, inertias, show, load, play, pause, toggle, seek, rate, copy, upload, tell, theme, nextTheme, player, stages, shown };
})();

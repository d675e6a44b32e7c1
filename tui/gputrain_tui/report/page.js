// Unpacks the chart library and draws the charts from the top, a few at a time, so that the page can be read
// meanwhile; those of a group are zoomed together.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const config = {
    displaylogo: false,
    responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  };
  const groups = {};
  const AT_ONCE_MS = 50; // A longer stretch of work would be felt by who scrolls.
  const waiting = charts.slice();
  let linking = false;

  function zoomTogether(box, group) {
    box.on("plotly_relayout", (event) => {
      const zoomed = "xaxis.range[0]" in event;
      if (linking || !(zoomed || event["xaxis.autorange"])) return;
      linking = true;
      const range = zoomed ? [event["xaxis.range[0]"], event["xaxis.range[1]"]] : box.fullRange;
      const others = groups[group].filter((other) => other !== box || !zoomed);
      Promise.all(others.map((other) => Plotly.relayout(other, { "xaxis.range": range.slice() }))).finally(() => {
        linking = false;
      });
    });
  }

  // On paper the picture is scaled as a whole: it needs to know its own size.
  function keepShape(box) {
    const { width, height } = box._fullLayout;
    box.style.setProperty("--ratio", `${width} / ${height}`);
    for (const svg of box.querySelectorAll(".main-svg")) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  async function draw(chart) {
    const box = document.getElementById(chart.id);
    await Plotly.newPlot(box, chart.data, chart.layout, config);
    keepShape(box);
    box.on("plotly_afterplot", () => keepShape(box));
    if (chart.group) {
      box.fullRange = chart.layout.xaxis.range;
      (groups[chart.group] ||= []).push(box);
      zoomTogether(box, chart.group);
    }
  }

  function unpacked(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const read = atob(text);
    const bytes = new Uint8Array(read.length);
    for (let at = 0; at < read.length; at++) bytes[at] = read.charCodeAt(at);
    return bytes;
  }

  // The library is most of the page, so it is packed; its code runs as a script of the page.
  async function startLibrary() {
    const packed = unpacked(document.getElementById("library").textContent);
    const code = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(code).text();
    document.head.append(script);
  }

  async function drawAll() {
    if (charts.length) await startLibrary();
    const told = document.documentElement.dataset;
    let begun = performance.now();
    while (waiting.length) {
      const below = document.getElementById(waiting[0].id).getBoundingClientRect().top > innerHeight;
      const first = below && !told.screenMs;
      if (first) told.screenMs = String(Math.round(performance.now()));
      if (first || performance.now() - begun > AT_ONCE_MS) {
        await new Promise((next) => setTimeout(next, 0));
        begun = performance.now();
      }
      if (waiting.length) await draw(waiting.shift());
    }
    told.drawnMs = String(Math.round(performance.now()));
    told.drawn = String(charts.length);
  }

  // A page has loaded once all its frames have: what pictures or prints it when it has loaded finds all drawn.
  function loading() {
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    frame.contentDocument.open();
    return () => {
      frame.contentDocument.close();
      frame.remove();
    };
  }

  // Paper does not wait: what is still to be drawn is drawn now.
  addEventListener("beforeprint", () => {
    if (window.Plotly) for (const chart of waiting.splice(0)) draw(chart);
  });

  const loaded = loading();
  drawAll().catch((error) => {
    for (const box of document.querySelectorAll(".chart:empty")) {
      box.textContent = "The charts need a browser of 2023 or newer.";
      box.style.height = "auto";
    }
    console.error(error);
  }).finally(loaded);
})();

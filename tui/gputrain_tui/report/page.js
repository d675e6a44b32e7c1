// Unpacks the chart library and draws the charts one after another, so that the page can be read meanwhile; those of
// a group are zoomed together.
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const config = {
    displaylogo: false,
    responsive: true,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
  };
  const groups = {};
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

  // The library is most of the page, so it is packed; its code runs as a script of the page.
  async function unpackLibrary() {
    const packed = Uint8Array.from(atob(document.getElementById("library").textContent), (c) => c.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(unpacked).text();
    document.head.append(script);
  }

  async function drawAll() {
    if (charts.length) await unpackLibrary();
    const told = document.documentElement.dataset;
    for (const chart of charts) {
      const below = document.getElementById(chart.id).getBoundingClientRect().top > innerHeight;
      if (below) told.screenMs ||= String(Math.round(performance.now()));
      await draw(chart);
      await new Promise((next) => setTimeout(next, 0));
    }
    told.drawnMs = String(Math.round(performance.now()));
    told.drawn = String(charts.length);
  }

  drawAll().catch((error) => {
    for (const box of document.querySelectorAll(".chart:empty")) {
      box.textContent = "The charts need a browser of 2023 or newer.";
      box.style.height = "auto";
    }
    console.error(error);
  });
})();

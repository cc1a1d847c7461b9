// Browsers refuse workers in pages opened from the file system, and the search runs in one.
// There, a hidden frame stands in for the worker.
window.IFrameWorker = class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.title = "search";
    document.body.append(frame);
    const inside = frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = frame.contentDocument.createElement("script");
    script.src = url;
    this.ready = new Promise((resolve) => script.addEventListener("load", resolve));
    frame.contentDocument.body.append(script);
    this.inside = inside;
  }

  postMessage(data) {
    this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
  }
};
if (location.protocol === "file:") window.Worker = window.IFrameWorker;

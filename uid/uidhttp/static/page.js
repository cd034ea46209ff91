// Keeps the page at what the server says, once a second while it is seen. All
// texts are made by the server; here they are put in their places.
"use strict";
(() => {
  const said = document.querySelector("[data-said]");
  const clock = document.querySelector("[data-time]");
  const sections = [...document.querySelectorAll("[data-generator]")];
  const links = new Map([...document.querySelectorAll("[data-generator-link]")].map((l) => [l.dataset.generatorLink, l]));
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const rate = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  let timer = 0, asking = false, last = null;

  // Writes only what differs, so that a screen reader hears changes alone.
  function put(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
  function mark(element, name, value) {
    if (element && element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  function showNotes(list, notes) {
    const shown = [...list.children].map((item) => item.textContent);
    if (shown.length === notes.length && shown.every((text, i) => text === notes[i])) return;
    list.replaceChildren(...notes.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  }

  function showGenerator(section, now, before, seconds) {
    section.dataset.state = now.state;
    const link = links.get(now.name);
    if (link) {
      link.dataset.state = now.state;
      put(link.querySelector(".state"), now.stateText);
    }
    for (const place of section.querySelectorAll("[data-text]")) {
      const text = place.dataset.text === "state" ? now.stateText : now.texts[place.dataset.text];
      if (text !== undefined) put(place, text);
    }
    showNotes(section.querySelector("[data-notes]"), now.notes);
    const arc = section.querySelector("[data-arc]");
    mark(arc, "stroke-dasharray", `${now.arc} 1000`);
    mark(section.querySelector("[data-bar]"), "width", String(now.bar));
    section.querySelector("[data-bounded]")?.classList.toggle("unbounded", !now.bounded);
    if (!before) return;
    if (arc && now.refills !== before.refills && !still.matches) {
      arc.animate([{ opacity: 0.45 }, { opacity: 1 }], { duration: 700, easing: "ease-out" });
    }
    if (seconds > 0) {
      section.querySelector("[data-rate-row]").hidden = false;
      put(section.querySelector("[data-rate]"), rate.format(Math.max(0, (now.issued - before.issued) / seconds)) + " a second");
    }
  }

  function show(answer) {
    const byName = new Map(answer.generators.map((g) => [g.name, g]));
    if (byName.size !== sections.length || !sections.every((s) => byName.has(s.dataset.generator))) {
      throw new Error("other generators");
    }
    const seconds = last ? (answer.millis - last.millis) / 1000 : 0;
    for (const section of sections) {
      const name = section.dataset.generator;
      const before = last && last.generators.find((g) => g.name === name);
      // A count that went down is that of a process that has started since.
      const same = before && before.issued <= byName.get(name).issued;
      showGenerator(section, byName.get(name), same ? before : null, seconds);
    }
    last = answer;
    put(clock, answer.time);
  }

  function say(state, text) {
    document.body.dataset.connection = state;
    put(said, text);
  }

  async function ask() {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    try {
      const response = await fetch("live.json", { cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (!response.ok) throw new Error(response.statusText);
      show(await response.json());
      say("live", "Live");
    } catch (fault) {
      if (fault.message === "other generators") say("gone", "The server has other generators now; reload the page. As it was at");
      else say("gone", "The server does not answer. As it was at");
    }
    asking = false;
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, 1000);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return ask();
    clearTimeout(timer);
    say("paused", "Paused. As it was at");
  });

  // The answer to an id is the one that the page would have without a script.
  for (const form of document.querySelectorAll("[data-decode]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const to = "?" + new URLSearchParams(new FormData(form));
      const input = form.elements.namedItem("id");
      const place = form.querySelector(".answer");
      const asked = input.value;
      try {
        const response = await fetch(to, { cache: "no-store", signal: AbortSignal.timeout(5000) });
        if (!response.ok) throw new Error(response.statusText);
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        if (input.value !== asked) return; // an answer to an older question
        place.replaceChildren(...page.getElementById(place.id).childNodes);
        input.toggleAttribute("aria-invalid", page.getElementById(input.id).hasAttribute("aria-invalid"));
        history.replaceState(null, "", to + form.getAttribute("action"));
      } catch {
        const wrong = document.createElement("p");
        wrong.className = "wrong";
        wrong.textContent = "The server does not answer.";
        place.replaceChildren(wrong);
      }
    });
  }

  ask();
})();

// Keeps the page up to date while it is seen: asks for the page anew every second
// and changes what differs. The server makes all texts but the rates.
"use strict";
(() => {
  const said = document.querySelector("[data-said]");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const rates = new Map();
  let timer = 0, asking = false, last = { millis: 0, issued: new Map() };

  // Makes an element like another one. What is equal is not touched, so that screen
  // readers hear changes alone, and focus and typed text stay.
  function follow(old, now) {
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== now.data) old.data = now.data;
      return;
    }
    const filled = "refills" in old.dataset && old.dataset.refills !== now.dataset.refills;
    for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) if (!now.hasAttribute(name)) old.removeAttribute(name);
    if (filled && !still.matches) old.animate([{ opacity: 0.45 }, { opacity: 1 }], { duration: 700, easing: "ease-out" });
    const olds = [...old.childNodes], nows = [...now.childNodes];
    if (olds.length === nows.length && olds.every((node, i) => node.nodeName === nows[i].nodeName && node.dataset?.generator === nows[i].dataset?.generator)) {
      olds.forEach((node, i) => follow(node, nows[i]));
    } else {
      const link = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
      old.replaceChildren(...nows);
      if (link) old.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus();
    }
  }

  // Fills in the rates of a page: by how much the counts grew since the last one.
  function rate(page) {
    const now = { millis: Number(page.querySelector("time").dataset.millis), issued: new Map() };
    const seconds = (now.millis - last.millis) / 1000;
    for (const place of page.querySelectorAll("[data-generator]")) {
      const name = place.dataset.generator, issued = Number(place.dataset.issued);
      now.issued.set(name, issued);
      const grown = issued - last.issued.get(name);
      // A count that fell is that of a process that started since.
      if (seconds > 0.5 && grown >= 0) rates.set(name, digits.format(grown / seconds) + " a second");
      if (rates.has(name)) place.querySelector("[data-rate]").textContent = rates.get(name);
    }
    if (seconds > 0.5) last = now;
  }

  function say(state, text) {
    document.body.dataset.connection = state;
    if (said.textContent !== text) said.textContent = text;
  }

  async function ask() {
    clearTimeout(timer);
    if (asking) return;
    asking = true;
    const asked = location.href;
    try {
      const response = await fetch(asked, { cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (response.ok) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        rate(page);
        const news = page.querySelectorAll("[data-live]");
        document.querySelectorAll("[data-live]").forEach((old, i) => follow(old, news[i]));
        if (!document.hidden) say("live", "Live");
      } else {
        say("gone", `The server answers with status ${response.status}. As of`);
      }
    } catch {
      say("gone", "The server does not answer. As of");
    }
    asking = false;
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, location.href === asked ? 1000 : 0);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return ask();
    clearTimeout(timer);
    say("paused", "Paused. As of");
  });

  // The answers to an id and to a search come with the page, as they do without a script.
  function send(form) {
    history.replaceState(null, "", "?" + new URLSearchParams(new FormData(form)));
    ask();
  }
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    send(event.target);
  });
  document.addEventListener("input", (event) => {
    if (event.target.type === "search") send(event.target.form);
  });

  rate(document);
  timer = setTimeout(ask, 600);
})();

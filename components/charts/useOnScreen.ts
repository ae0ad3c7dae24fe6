"use client";

import { type RefObject, useEffect, useState } from "react";
import { flushSync } from "react-dom";

/** Drawn slightly before it is scrolled into view. */
const MARGIN = "120px";

/** Reports when a window begins and ends printing. Returns the function that unsubscribes. */
export function watchPrinting(window: EventTarget, onChange: (printing: boolean) => void): () => void {
  const begin = () => onChange(true);
  const end = () => onChange(false);
  window.addEventListener("beforeprint", begin);
  window.addEventListener("afterprint", end);
  return () => {
    window.removeEventListener("beforeprint", begin);
    window.removeEventListener("afterprint", end);
  };
}

/** Whether an element can be seen: it is in or near the viewport, and the tab is not hidden; or the whole page is printed. */
export function useOnScreen(element: RefObject<Element | null>): boolean {
  const [inViewport, setInViewport] = useState(true);
  const [hidden, setHidden] = useState(false);
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => setInViewport(entries.at(-1)?.isIntersecting ?? true), { rootMargin: MARGIN });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  useEffect(() => {
    const look = () => setHidden(document.hidden);
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  // Paper is laid out as soon as the event is over.
  useEffect(() => watchPrinting(window, (begun) => flushSync(() => setPrinting(begun))), []);
  return printing || (inViewport && !hidden);
}

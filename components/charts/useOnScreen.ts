"use client";

import { type RefObject, useEffect, useState } from "react";

/** Drawn a little before it is scrolled into sight. */
const MARGIN = "120px";

/** Whether an element can be seen: it is in or near the viewport, and the tab is not hidden. */
export function useOnScreen(element: RefObject<Element | null>): boolean {
  const [inViewport, setInViewport] = useState(true);
  const [hidden, setHidden] = useState(false);
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
  return inViewport && !hidden;
}

"use client";

import { useEffect, useState } from "react";

/** A tab that is hidden for longer gives its connection back: a browser has six to one server. */
const REST_AFTER_MS = 60_000;

/** Whether somebody may look at the page: false once its tab has been hidden for a minute, until it is seen again. */
export function usePageVisible(): boolean {
  const [looked, setLooked] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onChange = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => setLooked(false), REST_AFTER_MS);
      else setLooked(true);
    };
    onChange();
    document.addEventListener("visibilitychange", onChange);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onChange);
    };
  }, []);
  return looked;
}

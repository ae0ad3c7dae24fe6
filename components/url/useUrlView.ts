"use client";

import { usePathname, useSearchParams } from "next/navigation";
import { useCallback, useMemo, useSyncExternalStore } from "react";

/** How one surface reads and writes its part of the address. Parameters it does not own are kept. */
export interface UrlCodec<View> {
  parse(params: URLSearchParams): View;
  /** Owned parameters; undefined leaves one out of the address, which means the default. */
  format(view: View): Readonly<Record<string, string | undefined>>;
}

/** The address after `view` is written into it. Pure, so that a codec can be tested as a round trip. */
export function writeView<View>(codec: UrlCodec<View>, current: URLSearchParams, view: View): URLSearchParams {
  const next = new URLSearchParams(current);
  for (const [name, value] of Object.entries(codec.format(view))) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  return next;
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

/**
 * The address is the state: the view can be copied as a link, survives a reload and follows the browser's Back.
 * `replace` for changing a knob, `push` for a choice that deserves a history entry.
 *
 * The address is read from the window, not from `useSearchParams`, which follows in a transition: a key held on a slider
 * would step from an old value. Calling it still makes a navigation of Next's router render again.
 */
export function useUrlView<View>(codec: UrlCodec<View>): readonly [View, (change: Partial<View>, how: "push" | "replace") => void] {
  const routed = useSearchParams().toString();
  const path = usePathname();
  const text = useSyncExternalStore(
    subscribe,
    () => window.location.search,
    () => (routed === "" ? "" : `?${routed}`),
  );
  const view = useMemo(() => codec.parse(new URLSearchParams(text)), [codec, text]);
  const write = useCallback(
    (change: Partial<View>, how: "push" | "replace") => {
      const current = new URLSearchParams(window.location.search);
      const query = writeView(codec, current, { ...codec.parse(current), ...change }).toString();
      const address = query === "" ? path : `${path}?${query}`;
      if (how === "push") window.history.pushState(null, "", address);
      else window.history.replaceState(null, "", address);
      for (const listener of listeners) listener();
    },
    [codec, path],
  );
  return [view, write];
}

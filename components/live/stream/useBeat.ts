"use client";

import { startTransition, useCallback, useEffect, useRef, useState } from "react";
import type { Beat, Piece } from "./beat";

/**
 * Reads a value at the page's beat and reports that there is a newer one. An equal value is not drawn again. Clicks
 * have priority over drawing.
 */
export function useBeat<Value>(beat: Beat, read: () => Value): readonly [value: Value, ask: () => void] {
  const [value, setValue] = useState<{ readonly of: Value }>(() => ({ of: read() }));
  const latest = useRef(read);
  const newest = useRef(value.of);
  const piece = useRef<Piece | null>(null);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    const joined = beat.join(() => {
      const of = latest.current();
      if (Object.is(of, newest.current)) return false;
      newest.current = of;
      startTransition(() => setValue({ of }));
      return true;
    });
    piece.current = joined;
    // Data that arrived between the first drawing and now.
    joined.ask();
    return () => joined.leave();
  }, [beat]);
  useEffect(() => piece.current?.drawn(), [value]);
  return [value.of, useCallback(() => piece.current?.ask(), [])];
}

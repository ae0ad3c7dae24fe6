"use client";

import { startTransition, useCallback, useEffect, useRef, useState } from "react";
import type { Beat, Piece } from "./beat";

/**
 * A value that is read at the page's beat, and the word that there is a newer one. A value that is the same is not drawn again. Clicks
 * go before the drawing.
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
    // What came between the first drawing and now.
    joined.ask();
    return () => joined.leave();
  }, [beat]);
  useEffect(() => piece.current?.drawn(), [value]);
  return [value.of, useCallback(() => piece.current?.ask(), [])];
}

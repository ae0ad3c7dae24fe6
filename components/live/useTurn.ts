"use client";

import { startTransition, useCallback, useEffect, useRef, useState } from "react";
import type { Piece, Turns } from "./turns";

/**
 * A value that is read when it is this piece's turn to be drawn, and the word that there is a newer one. Clicks go before the drawing,
 * and values that a slow browser does not come to are skipped.
 */
export function useTurn<Value>(turns: Turns, read: () => Value): readonly [value: Value, ask: () => void] {
  const [drawing, setDrawing] = useState(() => ({ value: read() }));
  const latest = useRef(read);
  const piece = useRef<Piece | null>(null);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    const joined = turns.join(() => startTransition(() => setDrawing({ value: latest.current() })));
    piece.current = joined;
    // What came between the first drawing and now.
    joined.ask();
    return () => joined.leave();
  }, [turns]);
  useEffect(() => piece.current?.drawn(), [drawing]);
  return [drawing.value, useCallback(() => piece.current?.ask(), [])];
}

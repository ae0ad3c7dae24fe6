"use client";

import { type RefObject, useCallback, useEffect, useRef } from "react";

/**
 * Moves the keyboard's focus on when the focused element disappears. `handOver` is called when that is certain; the focus moves to
 * `target` at the next render at which it is `ready` to take it.
 */
export function useFocusHandover<Target extends HTMLElement>(
  ready: boolean,
): {
  readonly target: RefObject<Target | null>;
  readonly handOver: () => void;
} {
  const target = useRef<Target>(null);
  const waiting = useRef(false);
  useEffect(() => {
    if (!ready || !waiting.current) return;
    waiting.current = false;
    target.current?.focus();
  });
  const handOver = useCallback(() => {
    waiting.current = true;
  }, []);
  return { target, handOver };
}

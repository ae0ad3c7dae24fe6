"use client";

import { useCallback, useMemo, useSyncExternalStore } from "react";

/** A copy of the tab's storage, and its replacement where the browser denies storage: then it lasts until the next reload. */
const texts = new Map<string, string | null>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function textOf(key: string): string | null {
  const known = texts.get(key);
  if (known !== undefined) return known;
  let text: string | null = null;
  try {
    text = window.sessionStorage.getItem(key);
  } catch {
    // No storage for this page.
  }
  texts.set(key, text);
  return text;
}

function writeText(key: string, text: string | null): void {
  texts.set(key, text);
  try {
    if (text === null) window.sessionStorage.removeItem(key);
    else window.sessionStorage.setItem(key, text);
  } catch {
    // Kept in memory.
  }
  for (const listener of listeners) listener();
}

/**
 * State of one tab that survives a reload and ends with the tab: for half-filled forms that are too long or too private
 * for an address. null until something is written, and during server rendering.
 */
export function useSessionState<Value extends object>(key: string): readonly [Value | null, (value: Value | null) => void] {
  const text = useSyncExternalStore(
    subscribe,
    () => textOf(key),
    () => null,
  );
  const value = useMemo(() => {
    if (text === null) return null;
    try {
      return JSON.parse(text) as Value;
    } catch {
      return null;
    }
  }, [text]);
  const write = useCallback((next: Value | null) => writeText(key, next === null ? null : JSON.stringify(next)), [key]);
  return [value, write];
}

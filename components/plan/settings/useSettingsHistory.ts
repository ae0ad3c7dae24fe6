"use client";

import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { type PlanSettings, type PlanView, settingsOf } from "../address/planCodec";
import { record, redo, startHistory, undo } from "./settingsHistory";

/** Undo and redo of the settings; null where there is no such step. */
export interface SettingsSteps {
  readonly undo: (() => void) | null;
  readonly redo: (() => void) | null;
}

/** Whether the target has its own undo, or belongs to a dialog, which hides the settings. */
function hasOwnUndo(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.closest("[role=dialog]") !== null) return true;
  return target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "radio";
}

/**
 * Follows the settings in the address, and writes earlier ones there. Buttons and Ctrl+Z, Ctrl+Shift+Z use it. Every change counts, also one
 * by the browser's Back.
 */
export function useSettingsHistory(view: PlanView, write: (change: Partial<PlanView>, how: "push") => void): SettingsSteps {
  const [store] = useState(() => createStore(() => startHistory<PlanSettings>(settingsOf(view))));
  useEffect(() => store.setState((history) => record(history, settingsOf(view), Date.now())), [store, view]);
  const canUndo = useStore(store, ({ past }) => past.length > 0);
  const canRedo = useStore(store, ({ future }) => future.length > 0);
  const step = useCallback(
    (way: typeof undo | typeof redo) => {
      const next = way(store.getState());
      if (next === null) return;
      store.setState(next);
      write(next.present, "push");
    },
    [store, write],
  );
  const back = useCallback(() => step(undo), [step]);
  const forth = useCallback(() => step(redo), [step]);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || event.altKey || hasOwnUndo(event.target)) return;
      event.preventDefault();
      (event.shiftKey ? forth : back)();
    }
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [back, forth]);
  return { undo: canUndo ? back : null, redo: canRedo ? forth : null };
}

"use client";

import { useRouter } from "next/navigation";
import { useEffect, useMemo, useRef, useState } from "react";
import { useMe } from "../api/useMe";
import { Modal } from "../ui/Modal";
import { SEQUENCE_MS } from "./pageKeys";
import { placesFor } from "./places";
import { useClusterLink } from "./useCurrentCluster";

const pageKeys = [
  { keys: "← →", text: "On a slider: one step. On the frontier: the next plan along it" },
  { keys: "Page Up, Page Down", text: "On a slider: ten steps" },
  { keys: "Home, End", text: "On a slider: its lowest and highest value" },
  { keys: "Ctrl Z, Ctrl Shift Z", text: "On Plan: undo and redo a change of the settings" },
  { keys: "Enter", text: "On the frontier: choose the cascade and plan it" },
  { keys: "p", text: "On the frontier: pin or unpin the plan (at most four)" },
  { keys: "Shift ← → ↑ ↓", text: "On the frontier: make a range around the plan, grow or shrink it" },
  { keys: "1 to 5, w, r", text: "Labelling one answer: from 0 to 100, wrong, right" },
  { keys: "← = →", text: "Labelling two answers: the left one is better, as good, the right one" },
  { keys: "s", text: "Labelling: cannot tell, skip" },
  { keys: "u", text: "Labelling: take the last label back" },
  { keys: "Esc", text: "Close a dialog; on the frontier: clear the range, then the pins" },
] as const;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

/** Handles the studio's keys and lists them. */
export function KeyboardHelp() {
  const [open, setOpen] = useState(false);
  const router = useRouter();
  const link = useClusterLink();
  const me = useMe();
  const places = useMemo(() => placesFor(me), [me]);
  const keys = [
    { keys: "?", text: "This list" },
    ...places.map((place) => ({ keys: `g ${place.key}`, text: `Go to ${place.name}` })),
    ...pageKeys,
  ];
  const prefixAtMs = useRef(0);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?") setOpen(true);
      else if (event.key === "g") prefixAtMs.current = event.timeStamp;
      else if (event.timeStamp - prefixAtMs.current < SEQUENCE_MS) {
        const place = places.find(({ key }) => key === event.key);
        prefixAtMs.current = 0;
        if (place !== undefined) router.push(link(place.href));
      }
    }
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [router, link, places]);
  return (
    <Modal open={open} onOpenChange={setOpen} title="Keys" description="They work except while you type text.">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2 text-sm">
        {keys.map((each) => (
          <div key={each.keys} className="contents">
            <dt>
              <kbd className="rounded border bg-sunken px-1.5 py-0.5 font-mono text-xs">{each.keys}</kbd>
            </dt>
            <dd className="text-ink-2">{each.text}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}

"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useStore } from "zustand";
import { useTRPC } from "@/components/api/trpc";
import type { TimeWindow } from "@/components/charts/chartSpec";
import type { Plan } from "@/solver/plan/plan";
import type { Live } from "../stream/live";
import { prepareSubjects, type Subjects } from "./prepareSubjects";

const NONE: readonly string[] = [];

/**
 * The subjects that have charts, present and gone, as the same object while they do not change. null until the first frame and the
 * first list of stored subjects have arrived: with less, the stream would be opened twice.
 */
export function useSubjects(of: {
  readonly live: Live;
  readonly clusterId: string;
  readonly plan: Plan | null;
  readonly window: TimeWindow | null;
}): Subjects | null {
  const { live, clusterId, plan, window } = of;
  const trpc = useTRPC();
  const kept = useQuery(
    trpc.live.subjects.queryOptions(
      { clusterId, fromMs: window?.fromMs ?? 0, toMs: window?.toMs ?? 1 },
      { enabled: window !== null, placeholderData: keepPreviousData },
    ),
  );
  // Without stored subjects the present ones are still shown.
  const names = kept.data ?? (kept.isError ? NONE : null);
  const text = useStore(live.store, ({ frames }) =>
    frames.length === 0 || names === null ? null : JSON.stringify(prepareSubjects(frames.at(-1), plan, names)),
  );
  return useMemo((): Subjects | null => (text === null ? null : JSON.parse(text)), [text]);
}

"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { isAggregateAll } from "@/solver/ensemble/gate/tauText";
import { useGateReport } from "../gate/useGateReport";
import { type PredictedSkips, predictingRequest, predictingSample, predictSkips, unpredicted } from "./predictSkips";

interface Predicting {
  /** Whether its engines are emulated. */
  readonly emulated: boolean;
  /** The sample that the address names; null: none. */
  readonly named: string | null;
}

/** What a sample predicts of a served ensemble at the tau in force. */
export function usePredictedSkips(ensemble: Ensemble, { emulated, named }: Predicting): PredictedSkips {
  const samples = useQuery(useTRPC().ensembles.samples.queryOptions()).data;
  const { experts, tau } = ensemble;
  const sample = samples === undefined || isAggregateAll(tau) ? null : predictingSample(samples, named, { experts, emulated });
  // The gate at every tau is one report: another tau asks nothing anew.
  const { data, error, isPlaceholderData } = useGateReport(sample && predictingRequest(ensemble, sample.id));
  if (isAggregateAll(tau)) return unpredicted("at this tau none is skipped");
  if (samples === undefined) return unpredicted("reading samples …");
  if (sample === null) return unpredicted(`no ${emulated ? "modelled or emulated" : "real"} sample has answers of all its experts`);
  if (error !== null) return unpredicted(error.message);
  return data === undefined || isPlaceholderData ? unpredicted("replaying the gate …") : predictSkips(ensemble, sample, data);
}

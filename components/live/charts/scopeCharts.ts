import type { Scope } from "../address/liveCodec";
import { clusterCharts } from "./clusterCharts";
import { engineCharts } from "./engineCharts";
import { gpuCharts } from "./gpuCharts";
import type { Identities, LiveChartSpec } from "./liveCharts";
import { modelCharts } from "./modelCharts";
import type { Subjects } from "./prepareSubjects";

/**
 * The charts of the displayed subject; `of` is the model, engine or node. A chart without a subject, as of models before any is served, is
 * left out.
 */
export function scopeCharts(subjects: Subjects, scope: Scope, of: string | null, identities: Identities): readonly LiveChartSpec[] {
  return chartsOf(subjects, scope, of, identities).filter(({ series }) => series.length > 0);
}

function chartsOf(subjects: Subjects, scope: Scope, of: string | null, identities: Identities): readonly LiveChartSpec[] {
  if (scope === "cluster") return clusterCharts(subjects, identities);
  if (of === null) return [];
  switch (scope) {
    case "model":
      return modelCharts(subjects, of, identities);
    case "engine":
      return engineCharts(of);
    case "gpu":
      return gpuCharts(subjects.gpus, of, identities);
  }
}

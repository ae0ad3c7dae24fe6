import type { RequestOptions } from "@/server/planning/planner/planningRequest";
import type { PlanningProgress } from "@/solver/cascade/explore/progress";

/** Occasional progress of planning, and the answer at the end. */
export type Progressing<Answer> =
  | { readonly kind: "progress"; readonly progress: PlanningProgress }
  | { readonly kind: "answer"; readonly answer: Answer };

/**
 * Sends a request, and yields the planner's progress until it answers. Of progress that was not read yet, only the last is kept. If the
 * reader stops or aborts, the planner stops.
 */
export async function* withProgress<Answer>(
  ask: (asking: RequestOptions) => Promise<Answer>,
  signal: AbortSignal,
): AsyncGenerator<Progressing<Answer>, void> {
  const left = new AbortController();
  let latest: PlanningProgress | null = null;
  let wake = (): void => undefined;
  const onProgress = (progress: PlanningProgress): void => {
    latest = progress;
    wake();
  };
  const answering = ask({ signal: AbortSignal.any([signal, left.signal]), onProgress }).then((answer) => ({ answer }));
  // A reader that has stopped does not get the result.
  answering.catch(() => undefined);
  try {
    for (;;) {
      const told = new Promise<null>((resolve) => {
        wake = () => resolve(null);
        if (latest !== null) wake();
      });
      const settled = await Promise.race([answering, told]);
      if (settled !== null) return yield { kind: "answer", answer: settled.answer };
      if (latest === null) continue;
      const progress: PlanningProgress = latest;
      latest = null;
      yield { kind: "progress", progress };
    }
  } finally {
    left.abort();
  }
}

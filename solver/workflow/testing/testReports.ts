import type { ObservedCall } from "../learning/observedCall";
import type { WorkflowLearner } from "../learning/workflowLearner";
import { testCall } from "./testCall";

/** A call as a client sees it: its arrival, wait and answer. */
export function serve(learner: WorkflowLearner, call: ObservedCall): void {
  const { id, programId, application, agent, upstream } = call;
  learner.start({ id, programId, application, agent, upstream, nowSeconds: call.arrivedSeconds });
  learner.finish(call);
}

/** Programs, 10 s apart, of a planner of 1 s and a writer of 3 s; every fourth is checked by the planner in 2 s and written again. */
export function reports(learner: WorkflowLearner, programs: number, { application = "report", from = 0, slower = 1 } = {}): void {
  for (let at = 0; at < programs; at += 1) {
    const start = from + 10 * at;
    const programId = `${application}-${from}-${at}`;
    const times = at % 4 === 3 ? [0, 1, 4, 6, 9] : [0, 1, 4];
    for (const [index, finish] of times.slice(1).entries()) {
      const arrivedSeconds = start + slower * (times[index] ?? 0);
      const agent = index % 2 === 0 ? "planner" : "writer";
      const upstream = index === 0 ? [] : [index % 2 === 0 ? "writer" : "planner"];
      serve(
        learner,
        testCall({
          id: `${programId}-${index}`,
          programId,
          application,
          agent,
          upstream,
          arrivedSeconds,
          finishedSeconds: start + slower * finish,
        }),
      );
    }
    learner.end(programId, start + slower * 9);
  }
}

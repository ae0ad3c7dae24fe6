import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { modelIn } from "@/solver/workflow/configurationSpace";
import type { WaitingWork } from "../core/policy";
import { cheapestConfiguration, quickestConfiguration } from "./boundConfiguration";
import type { ModelEngines } from "./modelEngines";
import type { ProgramConfigurations } from "./programConfigurations";
import type { StagedWork } from "./roundQueue";

/**
 * Programs that are bound to one configuration before there is room for their requests: the cheapest, or the quickest under the current
 * load, chosen once or at each stage anew (Aragog's per-input, per-input+ and per-input++).
 */
export class ProgramBinding {
  /** Requests that arrived since the waiting ones were counted. */
  unbound = 0;
  /** Waiting requests bound to each model. */
  private readonly waiting: Int32Array;
  private readonly anew: boolean;

  constructor(
    private readonly selection: Extract<JustInTimePolicy["selection"], { readonly kind: "cheapest" | "quickest" }>,
    private readonly engines: readonly ModelEngines[],
  ) {
    this.waiting = new Int32Array(engines.length);
    this.anew = selection.kind === "quickest" && selection.when === "stage";
  }

  /** Binds a request to its model in its program's configuration. @param out models that are not there, as bits. */
  bind(one: StagedWork, program: ProgramConfigurations, out: number): void {
    const { waiting } = this;
    const stands = !this.anew && program.bound >= 0 && hasConfiguration(program.leftWithout(out), program.bound);
    if (!stands) program.bound = this.configuration(program, out);
    one.bound = modelIn(program.workflow.space, program.bound, one.agent);
    waiting[one.bound] = (waiting[one.bound] ?? 0) + 1;
  }

  /** Counts the waiting requests of each model anew. @param single the model of a request of no workflow. */
  count(queued: readonly StagedWork[], single: (work: WaitingWork) => number): void {
    const { waiting } = this;
    waiting.fill(0);
    for (const { bound, program, work } of queued) {
      const model = program === null ? single(work) : bound;
      if (model >= 0) waiting[model] = (waiting[model] ?? 0) + 1;
    }
    this.unbound = 0;
  }

  private configuration(program: ProgramConfigurations, out: number): number {
    if (this.selection.kind === "cheapest") return cheapestConfiguration(program, out);
    const secondsPerToken = this.engines.map((own, model) => {
      const waiting = this.waiting[model] ?? 0;
      return own.waitPerToken(waiting) + own.secondsPerToken(waiting);
    });
    return quickestConfiguration(program, out, secondsPerToken);
  }
}

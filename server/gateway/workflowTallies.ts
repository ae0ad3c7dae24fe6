import type { WorkflowLearner } from "@/solver/workflow/workflowLearner";
import type { MetricRegistry } from "./metricRegistry";
import { Tally } from "./tally";

type Learnt = Pick<WorkflowLearner["counts"], "programs" | "lateCalls">;

/** Counts what is learnt of workflows since the gateway was started, whatever was learnt before or is forgotten. */
export class WorkflowTallies {
  readonly #calls = new Tally(["named"]);
  readonly #programs = new Tally([]);
  readonly #lateCalls = new Tally([]);
  /** As the learner had them when they were last counted. */
  #counted: Learnt = { programs: 0, lateCalls: 0 };

  /** A call ended. */
  call(agent: string): void {
    this.#calls.inc(agent === "" ? unnamed : named);
  }

  /** Counts what the learner has learnt since the last time. @returns whether that is anything. */
  follow({ programs, lateCalls }: Learnt): boolean {
    const before = this.#counted;
    this.#programs.inc({}, programs - before.programs);
    this.#lateCalls.inc({}, lateCalls - before.lateCalls);
    this.#counted = { programs, lateCalls };
    return programs !== before.programs;
  }

  /** Goes on with another learner, of which nothing is counted that it brings. */
  takeUp({ programs, lateCalls }: Learnt): void {
    this.#counted = { programs, lateCalls };
  }

  /** @param agents how many are placed. */
  register(registry: MetricRegistry, agents: () => number): void {
    const calls = "Calls for text that ended, by whether they named their agent.";
    registry.counter("weir_workflow_calls_total", calls, ["named"], this.#calls);
    registry.counter("weir_workflow_programs_total", "Programs that ended and were learnt from.", [], this.#programs);
    const late = "Calls that came when their program was taken to have ended.";
    registry.counter("weir_workflow_late_calls_total", late, [], this.#lateCalls);
    const placed = "Agents of which enough is learnt to place them by how long their programs have yet to go.";
    registry.gauge("weir_workflow_agents", placed, [], (gauge) => gauge.set(agents()));
  }
}

const named = { named: "yes" };
const unnamed = { named: "no" };

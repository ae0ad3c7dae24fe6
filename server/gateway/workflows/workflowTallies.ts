import type { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { MetricRegistry } from "../lib/metricRegistry";
import { Tally } from "../lib/tally";

type Learnt = Pick<WorkflowLearner["counts"], "programs" | "lateCalls">;

/** Counts what is learnt of workflows since the gateway was started, whatever was learnt before or is forgotten. */
export class WorkflowTallies {
  readonly #calls = new Tally(["named"]);
  readonly #programs = new Tally([]);
  readonly #lateCalls = new Tally([]);
  /** The learner's counts when they were last added. */
  #counted: Learnt = { programs: 0, lateCalls: 0 };

  /** A call ended. */
  call(agent: string): void {
    this.#calls.inc(agent === "" ? unnamed : named);
  }

  /**
   * Adds what the learner has learnt since the last time.
   * @returns whether there is anything.
   */
  follow({ programs, lateCalls }: Learnt): boolean {
    const before = this.#counted;
    this.#programs.inc({}, programs - before.programs);
    this.#lateCalls.inc({}, lateCalls - before.lateCalls);
    this.#counted = { programs, lateCalls };
    return programs !== before.programs;
  }

  /** Continues with another learner; what it has already learnt is not counted. */
  resume({ programs, lateCalls }: Learnt): void {
    this.#counted = { programs, lateCalls };
  }

  /** @param agents the number of placed agents. */
  register(registry: MetricRegistry, agents: () => number): void {
    const calls = "Calls that ended, by whether they named their agent.";
    registry.counter("weir_workflow_calls_total", calls, ["named"], this.#calls);
    registry.counter("weir_workflow_programs_total", "Programs that ended and were observed.", [], this.#programs);
    const late = "Calls that arrived after their program had been closed.";
    registry.counter("weir_workflow_late_calls_total", late, [], this.#lateCalls);
    const placed = "Agents with enough observations to be ordered by the remaining time of their programs.";
    registry.gauge("weir_workflow_agents", placed, [], (gauge) => gauge.set(agents()));
  }
}

const named = { named: "yes" };
const unnamed = { named: "no" };

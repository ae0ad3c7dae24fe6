/** A call of an agent that follows the agents named. */
type Call = (agent: string, ...upstream: readonly string[]) => Promise<void>;

/** Three applications as their authors would write them: a choice, parallel calls that join, and a loop. */
const applications: Readonly<Record<string, (call: Call, run: number) => Promise<void>>> = {
  "qa-router": async (call, run) => {
    await call("router");
    await call(run % 3 === 0 ? "math-expert" : "humanities-expert", "router");
  },
  report: async (call) => {
    await call("planner");
    await Promise.all(["searcher", "reader", "statistician"].map((agent) => call(agent, "planner")));
    await call("writer", "searcher", "reader", "statistician");
  },
  code: async (call, run) => {
    await call("coder");
    await call("reviewer", "coder");
    for (let round = 0; round < run % 3; round += 1) {
      await call("coder", "reviewer");
      await call("reviewer", "coder");
    }
  },
};

export interface AgentTraffic {
  /** The gateway's data address. */
  readonly gatewayUrl: string;
  /** Runs of each application. */
  readonly runs: number;
  /** Distinguishes these runs from others at the same gateway. */
  readonly id: string;
}

/**
 * Runs all three applications concurrently; each run starts when the one before it in its lane has ended. @throws Error on a call without
 * an answer.
 */
export async function runApplications({ gatewayUrl, runs, id }: AgentTraffic): Promise<void> {
  const lanes = 3;
  await Promise.all(
    Object.entries(applications).flatMap(([application, work]) =>
      Array.from({ length: lanes }, async (_, lane) => {
        for (let run = lane; run < runs; run += lanes) {
          const program = `${id}-${application}-${run}`;
          const call: Call = async (agent, ...upstream) => {
            const response = await fetch(`${gatewayUrl}/v1/chat/completions`, {
              method: "POST",
              headers: {
                "content-type": "application/json",
                "x-session-id": program,
                "x-weir-workflow": application,
                "x-weir-agent": agent,
                ...(upstream.length > 0 && { "x-weir-parents": upstream.join(",") }),
              },
              body: JSON.stringify({ model: "cascade/default", messages: [{ role: "user", content: `${program}: ${agent}, please.` }] }),
            });
            const text = await response.text();
            if (!response.ok) throw new Error(`${application}/${agent}: ${response.status} ${text}`);
          };
          await work(call, run);
        }
      }),
    ),
  );
}

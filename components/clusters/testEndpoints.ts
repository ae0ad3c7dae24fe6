import type { Finding, TriedEndpoint } from "@/server/contracts/studio";

const fine: Finding = { what: "models", level: "ok", sentence: "It serves llama.", next: null };
const unreached: Finding = { what: "reached", level: "failed", sentence: "Nobody listens there.", next: "Check the port." };

/** An endpoint that was tried and serves one model on a GPU that is guessed. */
export function triedAt(url: string, change: Partial<TriedEndpoint> = {}): TriedEndpoint {
  const tried = { name: new URL(url).host.replace(/[:.]/g, "-"), url };
  return {
    tried,
    findings: [{ ...fine, what: "reached", sentence: "It answers." }, fine],
    served: ["llama"],
    engine: { type: "vLLM", version: "0.11.0" },
    draft: { ...tried, model: "llama-3.1-70b", gpu: "h100-sxm", tp: 4, pp: 1, precision: "bf16", guessed: ["gpu", "tp", "pp"] },
    adapters: [],
    guesses: [
      { field: "gpu", why: "An engine does not tell its GPUs." },
      { field: "tp", why: "The fewest." },
      { field: "pp", why: "The fewest." },
    ],
    questions: [],
    ...change,
  };
}

/** An endpoint at which nothing listens. */
export const closedAt = (url: string): TriedEndpoint =>
  triedAt(url, { findings: [unreached], served: [], engine: null, draft: null, guesses: [] });

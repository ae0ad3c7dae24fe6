import type { JudgeHealth } from "@/server/contracts/studio";
import { StateWord } from "../ui/Badge";
import { healthWords } from "./judgeWords";

/** The judge's state according to its gateway: a word, the reason if it is not well, and its last answers. */
export function JudgeState({ health, nowMs }: { readonly health: JudgeHealth; readonly nowMs: number }) {
  const { word, tone, says } = healthWords(health, nowMs);
  return (
    <span className="inline-flex flex-wrap items-baseline gap-2">
      <StateWord tone={tone}>{word}</StateWord>
      <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">{says}</span>
    </span>
  );
}

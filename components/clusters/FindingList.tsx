import type { Finding } from "@/server/contracts/studio";
import { StateWord, type Tone } from "../ui/Badge";

const words: Readonly<Record<Finding["level"], readonly [string, Tone]>> = {
  ok: ["ok", "good"],
  warn: ["gap", "warn"],
  failed: ["failed", "bad"],
};

/** What was found out, each with its word and, where it is not well, what to do. */
export function FindingList({ findings, label }: { readonly findings: readonly Finding[]; readonly label: string }) {
  return (
    <ul aria-label={label} className="flex list-none flex-col gap-1.5 text-sm">
      {findings.map(({ what, level, sentence, next }) => {
        const [word, tone] = words[level];
        return (
          <li key={`${what}${sentence}`} className="flex items-baseline gap-2">
            <span className="w-16 shrink-0">
              <StateWord tone={tone}>{word}</StateWord>
            </span>
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {sentence}
              {next !== null && <span className="text-ink-2"> {next}</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

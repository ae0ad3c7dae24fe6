import type { Finding } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { LabelledLine } from "./LabelledLine";

const words: Readonly<Record<Finding["level"], readonly [string, Tone]>> = {
  ok: ["ok", "good"],
  warn: ["gap", "warn"],
  failed: ["failed", "bad"],
};

/** Findings, each with its word and, where it is a problem, what to do. */
export function FindingList({ findings, label }: { readonly findings: readonly Finding[]; readonly label: string }) {
  return (
    <ul aria-label={label} className="flex list-none flex-col gap-1.5 text-sm">
      {findings.map(({ what, level, sentence, next }) => {
        const [word, tone] = words[level];
        return <LabelledLine key={`${what}${sentence}`} word={word} tone={tone} sentence={sentence} next={next} wordClass="w-16" />;
      })}
    </ul>
  );
}

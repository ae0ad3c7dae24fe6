import type { Finding } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { AllowKey } from "./AllowKey";
import { LabelledLine } from "./LabelledLine";

const words: Readonly<Record<Finding["level"], readonly [string, Tone]>> = {
  ok: ["ok", "good"],
  warn: ["gap", "warn"],
  failed: ["failed", "bad"],
};

/** Findings, each with its word and, where it is a problem, what to do. `onAllowed`: tries again after a key was allowed. */
export function FindingList(props: { readonly findings: readonly Finding[]; readonly label: string; readonly onAllowed?: () => void }) {
  const { findings, label, onAllowed } = props;
  return (
    <ul aria-label={label} className="flex list-none flex-col gap-1.5 text-sm">
      {findings.map(({ what, level, sentence, next, allow }) => {
        const [word, tone] = words[level];
        return (
          <LabelledLine key={`${what}${sentence}`} word={word} tone={tone} sentence={sentence} next={next} wordClass="w-16">
            {allow !== undefined && onAllowed !== undefined && <AllowKey use={allow} onAllowed={onAllowed} />}
          </LabelledLine>
        );
      })}
    </ul>
  );
}

import type { ReactNode } from "react";

const tones = {
  neutral: "bg-sunken text-ink-2",
  accent: "bg-accent-soft text-accent",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  /** Modelled, emulated, extrapolated, estimated: hatched, with the word. */
  hatched: "bg-sunken text-ink-2 hatched pl-3.5",
} as const;

export type Tone = keyof typeof tones;

/** A word with a tone. The word has the meaning, the colour only repeats it. */
export function Badge({
  tone = "neutral",
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}) {
  return (
    <span
      title={title}
      className={`inline-flex h-5 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap ${tones[tone]}`}
    >
      {children}
    </span>
  );
}

const dots = { good: "●", warn: "▲", bad: "■", neutral: "○", accent: "●", hatched: "○" } as const;

/** A state: shape, colour and word together, so that it reads in greyscale too. */
export function StateWord({ tone, children, title }: { readonly tone: Tone; readonly children: ReactNode; readonly title?: string }) {
  return (
    <Badge tone={tone} {...(title === undefined ? {} : { title })}>
      <span aria-hidden="true" className="text-[9px]">
        {dots[tone]}
      </span>
      {children}
    </Badge>
  );
}

import type { ComponentProps } from "react";

const looks = {
  primary: "bg-accent text-accent-ink hover:bg-accent-hover border-transparent",
  plain: "bg-raised text-ink hover:bg-sunken border-line-strong",
  quiet: "bg-transparent text-ink-2 hover:bg-sunken hover:text-ink border-transparent",
  danger: "bg-raised text-bad hover:bg-bad-soft border-line-strong",
} as const;

type Look = keyof typeof looks;

/** Class list of a button, for links that act as one. */
export function buttonClass(look: Look = "plain"): string {
  return `inline-flex h-8 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap no-underline motion-safe:transition-colors disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50 ${looks[look]}`;
}

export function Button({ look = "plain", className = "", ...rest }: ComponentProps<"button"> & { readonly look?: Look }) {
  return <button type="button" className={`${buttonClass(look)} ${className}`} {...rest} />;
}

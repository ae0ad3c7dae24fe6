"use client";

import { Button } from "@/components/ui/Button";

/** The outermost error boundary: it reports a page that failed and retries it without losing the address, which is its state. */
export default function StudioError({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-start gap-3 p-8 pt-24">
      <h1 className="text-xl font-semibold">This page failed</h1>
      <p className="text-ink-2">{error.message}</p>
      <Button onClick={reset}>Try again</Button>
    </div>
  );
}

import type { Metadata } from "next";
import { RedeemLink } from "@/components/shell/RedeemLink";
import { WeirIcon } from "@/components/ui/icons";

export const metadata: Metadata = { title: "Sign in" };

const reasons: Readonly<Record<string, string>> = {
  "signed-out": "You are signed out.",
};

export default async function SignIn({ searchParams }: { readonly searchParams: Promise<{ readonly reason?: string }> }) {
  const reason = reasons[(await searchParams).reason ?? ""];
  return (
    <main className="mx-auto flex max-w-lg flex-col gap-4 p-8 pt-24">
      <div className="flex items-center gap-2 text-xl font-semibold">
        <span className="text-accent">
          <WeirIcon />
        </span>
        <h1>Sign in to Weir</h1>
      </div>
      {reason !== undefined && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {reason}
        </p>
      )}
      <RedeemLink />
      <p className="text-ink-2">
        The studio prints a sign-in link in the terminal it was started from. Open that link in this browser. It works once; the session
        then lasts until you sign out.
      </p>
      <p className="text-ink-2">To print another link, run this in the studio's folder while the studio runs:</p>
      <pre className="rounded-md border bg-panel px-3 py-2 font-mono text-sm">npm run weir -- sign-in</pre>
    </main>
  );
}

import type { Metadata } from "next";
import { RedeemLink } from "@/components/shell/RedeemLink";
import { buttonClass } from "@/components/ui/Button";
import { WeirIcon } from "@/components/ui/icons";
import type { SignInFault } from "@/server/contracts/studio";
import { runtime } from "@/server/runtime";

export const metadata: Metadata = { title: "Sign in" };

const reasons: Readonly<Record<SignInFault | "signed-out", string>> = {
  "signed-out": "You are signed out.",
  expired: "This sign-in was begun in another browser, was finished before, or took longer than ten minutes. Sign in again.",
  denied: "The provider refused the sign-in.",
  "provider-unavailable": "The provider cannot be reached, or its settings are wrong. The studio's log says which.",
  "answer-refused": "The provider's answer failed a check. Sign in again; the studio's log says what failed.",
  "no-role": "You have no role in Weir: none of your groups at the provider has one. An admin of Weir or of the provider can change that.",
  disabled: "An admin of Weir disabled your access.",
};

const isReason = (text: string): text is keyof typeof reasons => Object.hasOwn(reasons, text);

export default async function SignIn({ searchParams }: { readonly searchParams: Promise<{ readonly reason?: string }> }) {
  const { reason: asked = "" } = await searchParams;
  const reason = isReason(asked) ? reasons[asked] : undefined;
  const { oidc } = runtime();
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
      {oidc === null ? (
        <>
          <p className="text-ink-2">
            The studio prints a sign-in link in the terminal it was started from. Open that link in this browser. It works once; the session
            then lasts until you sign out.
          </p>
          <p className="text-ink-2">To print another link, run this in the studio's folder while the studio runs:</p>
        </>
      ) : (
        <>
          <a className={`${buttonClass("primary")} self-start`} href={oidc.startUrl}>
            Sign in with {oidc.providerName}
          </a>
          <p className="text-ink-2">
            Whoever has the terminal of the studio's machine can sign in without the provider, as an admin. This prints a link for it:
          </p>
        </>
      )}
      <pre className="rounded-md border bg-panel px-3 py-2 font-mono text-sm">npm run weir -- sign-in</pre>
    </main>
  );
}

"use client";

import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { onPageToken, pageToken } from "../api/pageToken";
import { toSignIn } from "../api/signInPage";

/**
 * Shows the studio in a browser that holds a page token, and leads to the sign-in page otherwise. The server renders neither: what it
 * sends is the same for everyone, and data comes by calls that need both factors.
 */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const token = useSyncExternalStore(onPageToken, pageToken, () => undefined);
  useEffect(() => {
    if (token === null) toSignIn();
  }, [token]);
  if (typeof token === "string") return children;
  return (
    <p role="status" className="p-8 text-sm text-ink-3">
      {token === null ? "You are not signed in." : "Loading…"}
    </p>
  );
}

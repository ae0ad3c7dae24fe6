"use client";

import { useEffect } from "react";
import { wantedCookie } from "./returnPage";

/** Redirects to the sign-in page if not signed in, and remembers the requested page: the printed link then leads there. */
export function SignInFirst() {
  useEffect(() => {
    const { pathname, search } = window.location;
    const cookie = wantedCookie(`${pathname}${search}`);
    // biome-ignore lint/suspicious/noDocumentCookie: read by the studio when the printed link is opened, in whatever tab
    if (cookie !== null) document.cookie = cookie;
    window.location.replace("/sign-in");
  }, []);
  return (
    <p role="status" className="p-8 text-sm text-ink-3">
      You are not signed in: <a href="/sign-in">sign in</a> first.
    </p>
  );
}

import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { ApiProvider } from "@/components/api/ApiProvider";
import { KeyboardHelp } from "@/components/shell/KeyboardHelp";
import { PanicBanner } from "@/components/shell/PanicBanner";
import { Rail } from "@/components/shell/Rail";
import { SignedIn } from "@/components/shell/SignedIn";
import { SilenceBanner } from "@/components/shell/SilenceBanner";
import { TopBar } from "@/components/shell/TopBar";
import { readTheme, THEME_COOKIE } from "@/components/shell/theme";

/** Every page behind sign-in: rail, bar, and the page between them. */
export default async function StudioLayout({ children }: { readonly children: ReactNode }) {
  const theme = readTheme((await cookies()).get(THEME_COOKIE)?.value);
  return (
    <SignedIn>
      <ApiProvider>
        <a
          href="#main"
          className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
        >
          Skip to content
        </a>
        <div className="flex min-h-dvh max-md:flex-col">
          <Rail />
          <div className="flex min-w-0 flex-1 flex-col">
            <TopBar theme={theme} />
            <PanicBanner />
            <SilenceBanner />
            <main id="main" tabIndex={-1} className="flex-1 p-4 outline-hidden">
              {children}
            </main>
          </div>
        </div>
        <KeyboardHelp />
      </ApiProvider>
    </SignedIn>
  );
}

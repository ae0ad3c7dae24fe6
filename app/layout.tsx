import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { readTheme, THEME_COOKIE } from "@/components/shell/theme";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Weir", template: "%s · Weir" },
  description: "Plan, apply and watch model cascades on your own GPUs.",
};

export const viewport: Viewport = {
  themeColor: [
    { media: "(prefers-color-scheme: light)", color: "#ffffff" },
    { media: "(prefers-color-scheme: dark)", color: "#161b1f" },
  ],
};

export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  const theme = readTheme((await cookies()).get(THEME_COOKIE)?.value);
  return (
    <html lang="en" {...(theme === "system" ? {} : { "data-theme": theme })}>
      <body>{children}</body>
    </html>
  );
}

import type { Metadata } from "next";
import { ApplyScreen } from "@/components/apply/ApplyScreen";

export const metadata: Metadata = { title: "Review and apply" };

export default async function ApplyPage({ params }: { readonly params: Promise<{ readonly planId: string }> }) {
  return <ApplyScreen planId={(await params).planId} />;
}

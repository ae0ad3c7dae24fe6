import type { Metadata } from "next";
import { LabelScreen } from "@/components/labelling/LabelScreen";

export const metadata: Metadata = { title: "Label by hand" };

export default async function LabelPage({ params }: { readonly params: Promise<{ readonly id: string }> }) {
  return <LabelScreen jobId={(await params).id} />;
}

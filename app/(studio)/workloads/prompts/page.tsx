import type { Metadata } from "next";
import { PromptsScreen } from "@/components/prompts/PromptsScreen";

export const metadata: Metadata = { title: "Prompts" };

export default function PromptsPage() {
  return <PromptsScreen />;
}

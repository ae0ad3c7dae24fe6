ALTER TABLE `approvals` ADD `hash` text;--> statement-breakpoint
ALTER TABLE `plans` ADD `claimed` text;
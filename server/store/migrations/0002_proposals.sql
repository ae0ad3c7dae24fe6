CREATE TABLE `proposals` (
	`id` text PRIMARY KEY NOT NULL,
	`cluster_id` text NOT NULL,
	`created_at` text NOT NULL,
	`state` text NOT NULL,
	`closed` text,
	`running_plan_id` text NOT NULL,
	`plan_id` text NOT NULL,
	`drifted_since` text NOT NULL,
	`drifted` text NOT NULL,
	`reason` text NOT NULL,
	`gain` text NOT NULL,
	`change` text NOT NULL,
	`basis` text NOT NULL,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`running_plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `proposals_by_cluster` ON `proposals` (`cluster_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `traffic_watches` (
	`cluster_id` text PRIMARY KEY NOT NULL,
	`plan_id` text NOT NULL,
	`traffic` text NOT NULL,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action
);

CREATE TABLE `control_changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`cluster_id` text NOT NULL,
	`at` text NOT NULL,
	`actor` text NOT NULL,
	`reason` text NOT NULL,
	`plan_id` text NOT NULL,
	`hash_before` text NOT NULL,
	`hash_after` text NOT NULL,
	`from` text NOT NULL,
	`to` text NOT NULL,
	`forecast` text,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `control_changes_by_cluster` ON `control_changes` (`cluster_id`,`id`);
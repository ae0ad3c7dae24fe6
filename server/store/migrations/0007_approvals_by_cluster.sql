CREATE TABLE `__new_approvals` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`plan_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`actor` text NOT NULL,
	`at` text NOT NULL,
	`reason` text NOT NULL,
	FOREIGN KEY (`plan_id`) REFERENCES `plans`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
-- Approvals given before count for the cluster that their plan was made for.
INSERT INTO `__new_approvals` SELECT `approvals`.`id`, `plan_id`, `plans`.`cluster_id`, `actor`, `at`, `reason` FROM `approvals` JOIN `plans` ON `plans`.`id` = `plan_id`;
--> statement-breakpoint
DROP TABLE `approvals`;
--> statement-breakpoint
ALTER TABLE `__new_approvals` RENAME TO `approvals`;

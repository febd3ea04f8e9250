-- CreateIndex
CREATE INDEX "sign_in_failures_expire_idx" ON "sign_in_failures"("expire");

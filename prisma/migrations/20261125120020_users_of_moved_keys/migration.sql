-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_moved_from_user_id_fkey" FOREIGN KEY ("organization_id", "moved_from_user_id") REFERENCES "users"("organization_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE NOT VALID;

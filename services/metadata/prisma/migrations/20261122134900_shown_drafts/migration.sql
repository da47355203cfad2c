-- AlterTable
ALTER TABLE "deployment" ADD COLUMN     "proposed" JSONB;

-- CreateTable
CREATE TABLE "deployment_showing" (
    "deployment_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "versions" JSONB NOT NULL,

    CONSTRAINT "deployment_showing_pkey" PRIMARY KEY ("deployment_id","user_id")
);

-- AddForeignKey
ALTER TABLE "deployment_showing" ADD CONSTRAINT "deployment_showing_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployment"("id") ON DELETE CASCADE ON UPDATE CASCADE;

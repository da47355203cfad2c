-- CreateTable
CREATE TABLE "promotion_showing" (
    "promotion_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "versions" JSONB NOT NULL,

    CONSTRAINT "promotion_showing_pkey" PRIMARY KEY ("promotion_id","user_id")
);

-- AddForeignKey
ALTER TABLE "promotion_showing" ADD CONSTRAINT "promotion_showing_promotion_id_fkey" FOREIGN KEY ("promotion_id") REFERENCES "promotion"("id") ON DELETE CASCADE ON UPDATE CASCADE;

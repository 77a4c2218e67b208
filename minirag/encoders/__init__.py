"""Text to vectors: one vector a text (`text_encoders`) or one a token (`token_encoders`)."""

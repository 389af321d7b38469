# The page in a container:
#   docker build -t steelyard .
#   docker run --rm -p 127.0.0.1:8080:8080 -v "$PWD:/work" --user "$(id -u):$(id -g)" steelyard
# and open the address that it prints. It holds the token: whoever has it may work in the mounted folder, nobody else.
# Any other command: docker run --rm -v "$PWD:/work" steelyard identify arm.urdf monday.csv -o results
FROM python:3.12-slim AS wheel
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[page,report,tables,bags,hdf5]" && rm -r /wheels \
    && useradd --create-home steelyard && mkdir /work && chown steelyard /work
# Kernels are kept in a folder that the user of the container makes and owns, whoever --user names.
ENV HOME=/tmp
USER steelyard
WORKDIR /work
EXPOSE 8080
ENTRYPOINT ["steelyard"]
CMD ["page", "--host", "0.0.0.0", "--expose", "--port", "8080", "--no-open"]

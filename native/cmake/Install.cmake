# `cmake --install` lays out bin/ranking-task and, of OpenVINO, only what the openvino Task loads: the runtime, the CPU plugin and the
# readers of IR and ONNX. libopenvino looks for its plugins beside itself. Where they are is relative, and the same before installing, when a
# link stands for the folder: the program's bytes do not depend on where it is built.
install(TARGETS ranking-task RUNTIME DESTINATION bin)
set_target_properties(ranking-task PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib/ranking;$ORIGIN/lib/ranking")

if(RANKING_WITH_OPENVINO)
  find_package(OpenVINO 2026.4 REQUIRED COMPONENTS Runtime)
  get_target_property(openvino_library openvino::runtime IMPORTED_LOCATION_RELEASE)
  get_filename_component(openvino_folder ${openvino_library} DIRECTORY)
  file(GLOB openvino_files
    ${openvino_folder}/libopenvino.so.* ${openvino_folder}/libopenvino_*_cpu_plugin.so
    ${openvino_folder}/libopenvino_ir_frontend.so.* ${openvino_folder}/libopenvino_onnx_frontend.so.*
    ${openvino_folder}/libtbb.so.*)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  file(CREATE_LINK ${openvino_folder} ${PROJECT_BINARY_DIR}/lib/ranking SYMBOLIC)
  install(PROGRAMS ${openvino_files} DESTINATION lib/ranking)
endif()
